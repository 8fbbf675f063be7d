import type { Answer, Application, Caller } from '../backends/routes/route.ts';
import type { Sql } from './database.ts';

/** A call in its transaction. */
export interface Call {
  readonly sql: Sql;
  readonly caller: Caller;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly text: string;
}

export interface ApplicationCall extends Pick<Call, 'sql' | 'params'> {
  readonly application: Application;
  readonly operation: string | undefined;
}

export interface Route {
  readonly method: string;
  readonly path: string;
  /** It changes nothing. */
  readonly isSafe?: true;
  handle(call: Call): Promise<Answer>;
  handleForApplication?(call: ApplicationCall): Promise<Answer>;
}

export const isGuid = (text: string): boolean => /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text);
