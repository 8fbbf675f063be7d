import type { Settings } from '../../settings/config.ts';
import type * as WebSockets from './webSockets.ts';

let webSockets: typeof WebSockets | undefined;

/**
 * Chooses how all connections of the process to the hub that speak AMQP are made (D405). The library for WebSockets is loaded only
 * for them.
 */
export async function useHubTransport({ transport }: Pick<Settings['hub'], 'transport'>): Promise<void> {
  webSockets = transport === 'websockets' ? await import('./webSockets.ts') : undefined;
}

/** How to connect over WebSockets; undefined for AMQP over TLS. */
export const overWebSockets = (): typeof WebSockets | undefined => webSockets;
