import type { Schema } from '../form/fields.ts';

/** What the sandbox says about itself. */
export interface About {
  readonly startedAt: string;
  readonly hub: { readonly hostName: string; readonly adminUrl: string };
  readonly backends: Readonly<Record<string, string>>;
  readonly service: { readonly adminUrl: string; readonly logFile: string };
  /** Null: this sandbox has no remote methods. */
  readonly methods: {
    readonly url: string;
    readonly callers: readonly string[];
    /** Inputs with which the modules of the sandbox answer, by method. */
    readonly examples: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  } | null;
  readonly messages: readonly MessageForm[];
}

/** A message as its contract has it, with an example. */
export interface MessageForm {
  readonly name: string;
  readonly summary: string;
  readonly headers: Schema;
  readonly payload: Schema;
  readonly example: {
    readonly title: string;
    readonly device: string;
    readonly properties: Readonly<Record<string, string>>;
    readonly body: string;
  };
}
