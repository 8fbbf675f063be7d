/** A call of one of the service's own functions, which was carried out as usual. */
type Call = { readonly name: string; readonly args: readonly unknown[]; readonly result: unknown };

const calls: Call[] = [];

type Any = (...args: unknown[]) => unknown;

const isClass = (one: Any) => /^class\b/.test(Function.prototype.toString.call(one));

/** For `vi.mock`: the module itself, but the calls of its functions are noted. */
export async function noted(original: () => Promise<object>): Promise<object> {
  const noting = (name: string, one: unknown) =>
    typeof one !== 'function' || isClass(one as Any)
      ? one
      : (...args: unknown[]) => {
          const result = (one as Any)(...args);
          calls.push({ name, args, result });
          return result;
        };
  return Object.fromEntries(Object.entries(await original()).map(([name, one]) => [name, noting(name, one)]));
}

/** The calls of a function since the last `forget`; `createBackend(typeRegistry)`: those for this backend. */
export function callsOf(receiver: string): readonly Call[] {
  const [, name, of] = /^(\w+)(?:\((.+)\))?$/.exec(receiver) ?? [];
  return calls.filter((call) => call.name === name && (of === undefined || at(call.args, '0.backend') === of));
}

/** @throws Error when the function has not been called */
export function firstCall(receiver: string): Call {
  const [first] = callsOf(receiver);
  if (first === undefined) throw new Error(`nobody has called ${receiver}`);
  return first;
}

/** A value in the arguments of a call: `0.limits.everyMs`. */
export const at = (args: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], args);

/** What is given to nobody in an argument is noted as a call, too. */
export const note = (name: string, ...args: unknown[]): number => calls.push({ name, args, result: undefined });

export function forget(): void {
  calls.length = 0;
}
