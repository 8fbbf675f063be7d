/** After how long the hub ends idle connections and links, in milliseconds. */
export interface IdleRules {
  /** A connection that does not get as far as its first request: through TLS, to its first bytes, to the end of HTTP headers. */
  beginning: number;
  /** An AMQP connection on which no link was attached, but those of `$cbs` and `$management`. */
  unusedConnection: number;
  /** An AMQP connection whose last link ended, but those two. */
  abandonedConnection: number;
  /** A link on which a producer sends no events. The connection stays. */
  publisher: number;
  /** A link on which a service sends nothing to devices. The connection stays. */
  devicebound: number;
}

/** As Microsoft's page "AMQP errors in Azure Event Hubs" says. */
export const idleRules: IdleRules = {
  beginning: 30_000, // H12
  unusedConnection: 60_000,
  abandonedConnection: 300_000,
  publisher: 1_800_000,
  devicebound: 1_800_000, // inference: the same
};
