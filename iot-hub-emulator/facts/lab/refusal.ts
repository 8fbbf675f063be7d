/** How something ended that is refused; undefined when it was not. */
export const refusalOf = (attempt: Promise<unknown>): Promise<Refused | undefined> =>
  attempt.then(
    () => undefined,
    (error: Error) => readRefusal(error),
  );

export interface Refused {
  /** The class that the client has for it. */
  readonly name: string;
  /** The event client's code. */
  readonly code?: string;
  /** AMQP's condition. */
  readonly condition?: string;
  /** Of an answer over HTTPS. */
  readonly status?: number;
  readonly body?: string;
  readonly text: string;
}

export function readRefusal(error: Error): Refused {
  const { code, amqpError, response, responseBody } = error as Error & {
    readonly code?: string;
    readonly amqpError?: { readonly condition?: string; readonly description?: string };
    readonly response?: { readonly statusCode?: number };
    readonly responseBody?: string;
  };
  return {
    name: error.name === 'Error' ? error.constructor.name : error.name,
    text: amqpError?.description ?? error.message,
    ...(code !== undefined && { code }),
    ...(amqpError?.condition !== undefined && { condition: amqpError.condition }),
    ...(response?.statusCode !== undefined && { status: response.statusCode }),
    ...(responseBody !== undefined && { body: responseBody }),
  };
}
