import type { overWebSockets } from '../transport/hubTransport.ts';
import { ServiceTransport } from './serviceSdk.ts';

type WebSockets = NonNullable<ReturnType<typeof overWebSockets>>;

/** Of the client: what connects, with its own settings. */
interface Connects {
  connect(settings: object, done: () => void): void;
}

/** The client's transport over WebSockets, in place of its own, which has the port fixed and takes no agent (D405). */
export const serviceWebSockets = ({ addressOf, webSocketSettings }: WebSockets): typeof ServiceTransport =>
  class extends ServiceTransport {
    constructor(config: ConstructorParameters<typeof ServiceTransport>[0]) {
      super(config);
      const amqp: Connects = Reflect.get(this, '_amqp');
      const connect = amqp.connect.bind(amqp);
      amqp.connect = (settings, done) => connect({ ...settings, sslOptions: webSocketSettings() }, done);
    }

    protected override _getConnectionUri(): string {
      return addressOf(this._config.host, 'service');
    }
  };
