/** A hub was asked and did not do it; the message is its sentence. */
export class HubRefused extends Error {
  override readonly name = 'HubRefused';
  /** Of HTTP. */
  readonly status: number;

  constructor(status: number, sentence = `status ${status}`) {
    super(sentence);
    this.status = status;
  }
}

/** What the admin port is asked for. */
export interface AdminRequest {
  method: 'GET' | 'POST' | 'DELETE';
  path: string;
  /** To be sent as JSON. */
  body?: unknown;
  signal?: AbortSignal | undefined;
}

/** Where a hub is asked. */
export interface AdminPort {
  /** Without a slash at its end. */
  readonly url: string;
  /** Needed if the port is open to other machines. */
  readonly token?: string | undefined;
}

/** Ask a hub. Throws `HubRefused`, or what `fetch` throws. */
export async function send({ url, token }: AdminPort, { method, path, body, signal }: AdminRequest): Promise<Response> {
  const response = await fetch(url + path, {
    method,
    ...(token !== undefined && { headers: { authorization: `Bearer ${token}` } }),
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  });
  if (response.ok) return response;
  const refusal = (await parsed(response)) as { error?: string } | undefined;
  throw new HubRefused(response.status, refusal?.error);
}

/** Ask a hub. The answer is its own, as data; undefined when it has nothing to say. Throws as `send` does. */
export const ask = async (hub: AdminPort, request: AdminRequest): Promise<unknown> => parsed(await send(hub, request));

async function parsed(response: Response): Promise<unknown> {
  const text = await response.text();
  return text === '' ? undefined : JSON.parse(text);
}
