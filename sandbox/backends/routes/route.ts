import type { Answer, Unanswered } from '../../../iot-hub-emulator/src/http/server.ts';
import { invalid } from '../requests/problem.ts';
import type { Device, Owner } from '../rules/ownership.ts';

export type { Answer };

/** The directly connected device on whose behalf a call is made: tenant and rights follow from it. */
export interface Caller extends Device {
  /** The device's own identity. */
  readonly identity: Owner;
}

/** A program that reads object models of one tenant, and may invoke methods of them if its token says so. */
export interface Application {
  readonly name: string;
  readonly tenant: string;
  readonly mayInvoke: boolean;
}

/** A call that reached its route: who, with which path parameters (decoded, never split again), query and body text. */
export interface Call {
  readonly caller: Caller;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly text: string;
}

/** A call of an application that reached its route. */
export interface ApplicationCall {
  readonly application: Application;
  readonly params: Readonly<Record<string, string>>;
  /** What the object is read for: the header `x-svc-operation`. */
  readonly operation: string | undefined;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** One operation: `path` is a template such as `/objects/{objectId}/models/{model}`. */
export interface Route<C = Call, A extends Answer | Unanswered = Answer> {
  readonly method: Method;
  readonly path: string;
  /** A POST that changes nothing: it takes no idempotency key. */
  readonly isSafe?: true;
  handle(call: C): A;
  /** Where it is absent, the route is for devices alone. */
  handleForApplication?(call: ApplicationCall): Answer;
}

/** The value of a query parameter. One that is given twice is refused (400). */
export function single(query: URLSearchParams, name: string): string | undefined {
  const values = query.getAll(name);
  if (values.length > 1) throw invalid(`the query parameter ${name} is given more than once`);
  return values[0];
}

export const json = (status: number, body: unknown): Answer => ({ status, body: JSON.stringify(body) });
