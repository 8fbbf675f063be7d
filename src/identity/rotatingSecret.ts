/** A secret in a file, which can change while the program runs (D397). */
export interface RotatingSecret {
  current(): string;
  /**
   * The secret to try next, because the other side refuses this one: the file is read at once. The same when there is no other. Never
   * rejects.
   */
  renew(refused: string): Promise<string>;
  /**
   * @param listener called after each change
   * @returns ends that
   */
  onChange(listener: () => void): () => void;
}

/** A secret of the settings: fixed, or in a file. */
export type Secret = string | RotatingSecret;

export const isSecret = (access: unknown): access is Secret =>
  typeof access === 'string' || (typeof access === 'object' && access !== null && 'renew' in access);

export const currentOf = (secret: Secret): string => (typeof secret === 'string' ? secret : secret.current());

/** @param refused by the other side */
export const renewed = async (secret: Secret, refused: string): Promise<string> =>
  typeof secret === 'string' ? secret : secret.renew(refused);

/** A secret with what another one has: it changes with it. */
export function derivedFrom(secret: Secret, make: (value: string) => string): Secret {
  if (typeof secret === 'string') return make(secret);
  const current = () => make(secret.current());
  return {
    current,
    async renew(refused) {
      if (current() === refused) await secret.renew(secret.current());
      return current();
    },
    onChange: secret.onChange,
  };
}

/**
 * Calls the listener after each change of what is used with a key; an identity has none.
 * @returns ends that
 */
export const whenChanged = (access: unknown, listener: () => void): (() => void) =>
  isSecret(access) && typeof access !== 'string' ? access.onChange(listener) : () => {};
