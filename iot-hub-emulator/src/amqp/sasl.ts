import type { Connection } from 'rhea';

/** How one client proves who it is before AMQP begins; `outcome` is undefined until it has tried. */
interface Mechanism {
  outcome: boolean | undefined;
  username: string | undefined;
  start(response: Buffer | undefined): void;
}

/**
 * What a client may say before AMQP begins: nothing of itself (it puts tokens at `$cbs` then), or a name and a password, of
 * which `login` says whether they are right. `refused` is called after it was told that they are not.
 */
export function offerMechanisms(
  connection: Connection,
  login: (username: string, password: string) => boolean,
  refused: () => void,
): void {
  const anonymous = (): Mechanism => mechanism(() => true);
  const plain = (): Mechanism =>
    mechanism((response) => {
      const [, username = '', password = ''] = (response?.toString('utf8') ?? '').split('\0');
      const isRight = login(username, password);
      if (!isRight) setImmediate(refused);
      return isRight;
    });
  // rhea takes the mechanisms of the container, for all its connections the same; this login is for one
  const state = connection as unknown as { container: object };
  const mechanisms = { MSSBCBS: anonymous, PLAIN: plain, ANONYMOUS: anonymous };
  state.container = Object.create(state.container, { sasl_server_mechanisms: { value: mechanisms } });
}

function mechanism(believes: (response: Buffer | undefined) => boolean): Mechanism {
  return {
    outcome: undefined,
    username: undefined,
    start(response) {
      this.outcome = believes(response);
    },
  };
}
