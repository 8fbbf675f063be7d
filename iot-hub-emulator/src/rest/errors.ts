import { randomUUID } from 'node:crypto';
import type { Refusal } from '../values/refusal.ts';
import type { RestAnswer } from './request.ts';

const known: Readonly<Record<string, readonly [number, string]>> = {
  'amqp:not-found': [404, 'DeviceNotFound'],
  'amqp:unauthorized-access': [401, 'IotHubUnauthorizedAccess'],
  'com.microsoft:argument-error': [400, 'ArgumentInvalid'],
  'com.microsoft:invalid-protocol-version': [400, 'InvalidProtocolVersion'],
  'com.microsoft:device-already-exists': [409, 'DeviceAlreadyExists'],
  'com.microsoft:precondition-failed': [412, 'PreconditionFailed'],
  'com.microsoft:device-container-throttled': [429, 'ThrottlingException'],
  'com.microsoft:device-not-online': [404, 'DeviceNotOnline'],
  'com.microsoft:timeout': [504, 'GatewayTimeout'],
  'com.microsoft:bad-device-response': [502, 'BadDeviceResponse'],
  'amqp:not-implemented': [501, 'NotImplemented'],
  'com.microsoft:job-not-found': [404, 'JobNotFound'],
  'com.microsoft:job-already-exists': [409, 'JobAlreadyExists'],
  'com.microsoft:too-many-jobs': [403, 'JobQuotaExceeded'],
  'com.microsoft:configuration-not-found': [404, 'ConfigurationNotFound'],
  'com.microsoft:configuration-already-exists': [409, 'ConfigurationAlreadyExists'],
  'com.microsoft:too-many-configurations': [413, 'ConfigurationCountLimitExceeded'],
  'com.microsoft:immutable-content': [400, 'CannotModifyImmutableConfigurationContent'],
  'com.microsoft:invalid-content': [400, 'InvalidConfigurationContent'],
  'com.microsoft:invalid-target-condition': [400, 'InvalidConfigurationTargetCondition'],
  'com.microsoft:invalid-metrics-query': [400, 'InvalidConfigurationCustomMetricsQuery'],
  'com.microsoft:invalid-device-scope': [400, 'InvalidDeviceScope'],
  'com.microsoft:too-many-uploads': [403, 'DeviceMaximumActiveFileUploadLimitExceeded'],
  'com.microsoft:message-lock-lost': [412, 'DeviceMessageLockLost'],
  'amqp:link:message-size-exceeded': [413, 'MessageTooLarge'],
  'com.microsoft:payload-too-large': [400, 'ArgumentInvalid'],
};

/** Status and error code of a refusal. */
export function codeOf({ condition }: Refusal): { status: number; code: string } {
  const [status, code] = known[condition] ?? [400, 'ArgumentInvalid'];
  return { status, code };
}

/** An error as IoT Hub words it: its clients read the code between the colon and the first semicolon. */
export function errorAnswer(status: number, code: string, message: string): RestAnswer {
  const ExceptionMessage = `Tracking ID:${randomUUID()}-TimeStamp:${new Date().toISOString()}`;
  return {
    status,
    body: { Message: `ErrorCode:${code};${message}`, ExceptionMessage },
    headers: { 'iothub-errorcode': code },
  };
}
