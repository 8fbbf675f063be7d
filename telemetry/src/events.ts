export type EventLevel = 'info' | 'warn' | 'error' | 'fatal';

/** The lines of a log, by the names of their events: a closed list. The names are an interface: operators look for them. */
export type Events = Readonly<Record<string, { readonly levels: readonly EventLevel[]; readonly message: string }>>;

/** The texts of the lines that can have one of these levels. */
export type MessageOf<E extends Events, L extends EventLevel = EventLevel> = {
  [N in keyof E]: Extract<E[N]['levels'][number], L> extends never ? never : E[N]['message'];
}[keyof E];

/** Finds the event of a text; undefined for a text that is not in the list. */
export function eventNames(events: Events): (message: string) => string | undefined {
  const names = new Map(Object.entries(events).map(([name, { message }]) => [message, name]));
  return (message) => names.get(message);
}

/** Of each log: what reads it stood still. */
export const linesDropped = warn('lines of the log are missing before this one: nobody read them');

export function info<const M extends string>(message: M) {
  return { levels: ['info'], message } as const;
}

export function warn<const M extends string>(message: M) {
  return { levels: ['warn'], message } as const;
}

export function error<const M extends string>(message: M) {
  return { levels: ['error'], message } as const;
}

export function warnOrError<const M extends string>(message: M) {
  return { levels: ['warn', 'error'], message } as const;
}

export function fatal<const M extends string>(message: M) {
  return { levels: ['fatal'], message } as const;
}
