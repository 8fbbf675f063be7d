import type { HubCore } from '../core/core.ts';
import type { Message } from '../values/message.ts';

/** What a connection needs of the hub, and what connections of the same device share. */
export interface MqttHub extends HubCore {
  /** What outlives its connection (clean session 0), by client id. */
  sessions: Map<string, SessionState>;
}

/** The state of a session, as MQTT has it. */
export interface SessionState {
  /** Topic and QoS. */
  readonly subscriptions: Map<string, 0 | 1>;
  /** The packet id under which a message was delivered: it comes again under the same. */
  readonly packetIds: WeakMap<Message, number>;
}
