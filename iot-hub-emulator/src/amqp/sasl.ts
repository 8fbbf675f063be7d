import type { Connection } from 'rhea';

/** A SASL mechanism for one client; `outcome` is undefined until the client has tried it. */
interface Mechanism {
  outcome: boolean | undefined;
  username: string | undefined;
  start(response: Buffer | undefined): void;
}

/**
 * Offer the SASL mechanisms: anonymous (the client puts tokens at `$cbs` then), or PLAIN with a name and a password that
 * `login` checks. `refused` is called after the client was told that they are wrong.
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

function mechanism(verify: (response: Buffer | undefined) => boolean): Mechanism {
  return {
    outcome: undefined,
    username: undefined,
    start(response) {
      this.outcome = verify(response);
    },
  };
}
