/** An entry of the sandbox's journal, as JSON has it: what a hub or a backend has seen. */
export interface Entry {
  readonly kind: string;
  /** Counts from 1. */
  readonly position: number;
  /** ISO 8601. */
  readonly time: string;
  readonly deviceId?: string;
  readonly correlationId?: string;
  /** Of a message: base64; of a call: text. */
  readonly body?: string | null;
  /** The body of a message, if it is UTF-8. */
  readonly text?: string;
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly messageId?: string;
  readonly outcome?: string;
  readonly answer?: string;
  readonly reason?: string;
  readonly protocol?: string;
  readonly address?: string;
  /** Of a call to a backend. */
  readonly server?: string;
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Id of the fault that struck the call. */
  readonly fault?: string;
  /** Position of the call that this answers. */
  readonly request?: number;
  /** Of a call or a method; null: nothing was answered. */
  readonly status?: number | null;
  readonly methodName?: string;
  /** Of a method: JSON. */
  readonly payload?: string;
  /** The hub did not take a message, or did not call a method. */
  readonly refused?: string | { readonly condition: string; readonly description: string };
  readonly system?: Readonly<Record<string, string>>;
}

/** Milliseconds since 1970. */
export const timeOf = ({ time }: Entry): number => Date.parse(time);

/** The text of a body: of a message or of a call. */
export const textOf = ({ kind, text, body }: Entry): string | undefined =>
  text ?? (kind.startsWith('http-') ? (body ?? undefined) : undefined);
