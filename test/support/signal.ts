/** Something that a test waits for, or has others wait for, until it is given. */
export function signal<T = void>(): { readonly given: Promise<T>; give(value: T): void } {
  let give: (value: T) => void = () => {};
  const given = new Promise<T>((resolve) => {
    give = resolve;
  });
  return { given, give };
}
