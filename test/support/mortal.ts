/** A process that can die at any await point. */
export interface Mortal {
  /** Does something that others can see. The process may die before it, or after it without learning of the result. */
  step<T>(something: () => Promise<T>): Promise<T>;
  readonly death: Promise<'died'>;
  /** How many points it came to. */
  points(): number;
}

/** @param diesAt counts from 1; nothing of the process goes on after it */
export function mortal(diesAt: number): Mortal {
  let count = 0;
  let die: (how: 'died') => void = () => {};
  const death = new Promise<'died'>((resolve) => {
    die = resolve;
  });
  const never = new Promise<never>(() => {});

  async function point(): Promise<void> {
    count += 1;
    if (count === diesAt) die('died');
    if (count >= diesAt) await never;
  }

  return {
    async step(something) {
      await point();
      const result = await something();
      await point();
      return result;
    },
    death,
    points: () => count,
  };
}
