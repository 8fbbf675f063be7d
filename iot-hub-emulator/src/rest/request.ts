import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { HubCore } from '../core/core.ts';
import type { Unanswered } from '../http/httpServer.ts';
import type { DeviceLogin } from '../identity/access.ts';
import type { Right } from '../identity/policies.ts';
import { clientIdOf, type Identity } from '../identity/registry.ts';
import type { Operation } from '../limits/tiers.ts';
import type { Ways } from '../otherwise/ways.ts';
import { isObject, type Json, type JsonObject } from '../values/json.ts';
import { Refusal } from '../values/refusal.ts';

/** A request whose token has been verified. */
export interface RestRequest {
  hub: HubCore;
  /** The ids in the path, decoded; empty when the route has none. */
  device: string;
  module: string | undefined;
  /** The job or configuration that the path names; empty when the route has none. */
  subject: string;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  body: Json | undefined;
}

/** What goes back; JSON, if there is a body. */
export interface RestAnswer {
  status: number;
  body?: Json;
  headers?: Record<string, string>;
  /** Sent as it is, instead of the body. */
  text?: string;
  /** Sent as they are, instead of the body. */
  bytes?: Buffer;
}

/** One method on one path. */
export interface Route {
  method: 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE';
  /** `{device}` and `{module}` stand for ids. */
  path: string;
  /** A token with any of these rights will do. */
  rights: readonly Right[];
  /** What it counts as, once for each request. */
  counts?: Operation;
  handle(request: RestRequest): RestAnswer | Promise<RestAnswer | Unanswered>;
  /** How this route words a refusal, if it has words of its own. */
  refuse?(refusal: Refusal, otherwise: Ways): RestAnswer;
}

/** A request of a device that has proved who it is. */
export interface DeviceRequest {
  hub: HubCore;
  login: DeviceLogin;
  request: IncomingMessage;
  query: URLSearchParams;
  /** The lock of a message, or the upload, that the path names; empty when the route has none. */
  subject: string;
  body: Buffer;
}

/** The same for devices: `{device}` in the path is the one that asks. */
export interface DeviceRoute extends Pick<Route, 'method' | 'path'> {
  handle(request: DeviceRequest): RestAnswer | Promise<RestAnswer>;
}

/** The identity that the path names. Refuses an unknown one. */
export function identityOf({ hub, device, module }: RestRequest): Identity {
  const identity = hub.registry.get(clientIdOf(device, module));
  if (!identity) throw new Refusal('amqp:not-found', 'There is no device or module of this id.');
  return identity;
}

/** Compare an If-Match header with the present etag. Without the header, or with `*`, any etag matches. */
export function checkMatch({ headers }: RestRequest, etag: string): void {
  const wanted = headers['if-match']?.replace(/^"(.*)"$/, '$1');
  if (wanted !== undefined && wanted !== '*' && wanted !== etag)
    throw new Refusal('com.microsoft:precondition-failed', 'The If-Match header names another version.');
}

/** The body as an object. Refuses any other. */
export function objectIn({ body }: RestRequest): JsonObject {
  if (!isObject(body)) throw new Refusal('com.microsoft:argument-error', 'The body is a JSON object.');
  return body;
}
