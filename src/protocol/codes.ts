/** Whose side a failure is on. */
export const faults = ['device', 'hub', 'service'] as const;

/** All result codes of acknowledgements. Messages that fail with `fault` service are parked (G4). */
export const resultCodes = {
  ok: { fault: 'nobody' },
  validation_error: { fault: 'device' },
  platform_event_validation_error: { fault: 'device' },
  not_authorized: { fault: 'device' },
  http_response_error: { fault: 'device' },
  operation_not_supported: { fault: 'device' },
  decompression_error: { fault: 'device' },
  response_too_large: { fault: 'device' },
  delivery_failed: { fault: 'hub' },
  timeout_exceeded: { fault: 'service' },
  internal_platform_error: { fault: 'service' },
} as const satisfies Record<string, { fault: 'nobody' | (typeof faults)[number] }>;

export type ResultCode = keyof typeof resultCodes;
export type FailureCode = Exclude<ResultCode, 'ok'>;
