import type { Agent } from 'node:http';
import { outboundAgent, tunnelTo } from 'telemetry/network/outbound.ts';

/**
 * Options of an exporter whose collector is behind a proxy. Others get none: an exporter without them takes the certificates of the
 * standard variables.
 */
export const collectorAgent = (address: string): { readonly httpAgentOptions?: () => Agent } =>
  tunnelTo(new URL(address)) === undefined ? {} : { httpAgentOptions: () => outboundAgent };
