/** Secrets that are known, or what tells those of the moment: another list when there are others (D397). */
export type SecretList = readonly string[] | (() => readonly string[]);

/** What `make` makes of the secrets; it is made again for another list. */
export function madeOf<T>(secrets: SecretList, make: (secrets: readonly string[]) => T): () => T {
  const listNow = typeof secrets === 'function' ? secrets : () => secrets;
  let list = listNow();
  let made = make(list);
  return () => {
    const now = listNow();
    if (now !== list) {
      list = now;
      made = make(now);
    }
    return made;
  };
}
