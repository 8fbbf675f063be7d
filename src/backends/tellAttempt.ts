import type { Tell } from '../tap/taps.ts';
import type { HttpResponse, Outgoing } from './attempt.ts';
import { TransportFailure } from './transport.ts';

interface Told {
  readonly backend: string;
  readonly operation: string;
  /** 1 for the first attempt of a call. */
  readonly attempt: number;
  readonly ms: number;
}

/** Reports an attempt to those who follow the device. */
export function tellAttempt(
  tell: Tell,
  told: Told,
  { method, path, body }: Outgoing,
  response: HttpResponse | TransportFailure,
): void {
  const request = { ...told, ms: Math.round(told.ms), method, path };
  if (response instanceof TransportFailure) tell('attempt', { ...request, fault: response.fault }, { request: body });
  else
    tell(
      'attempt',
      { ...request, status: response.status },
      { request: body, response: response.data },
      response.token,
    );
}
