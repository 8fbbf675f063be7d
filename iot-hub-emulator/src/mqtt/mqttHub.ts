import type { HubCore } from '../core/core.ts';

/** What a connection needs of the hub, and what connections of the same device share. */
export interface MqttHub extends HubCore {
  /** Subscriptions that outlive their connection (clean session 0), by client id: topic and QoS. */
  subscriptions: Map<string, Map<string, 0 | 1>>;
}
