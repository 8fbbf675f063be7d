import type { Printer } from '../terminal/print.ts';
import { showText, visible } from '../terminal/showMessage.ts';
import type { FrontDoorExchange } from './call.ts';
import type { FoundObject } from './find.ts';

export const backendNames = {
  informationModel: 'information model',
  typeRegistry: 'type registry',
  principalManager: 'principal manager',
  token: 'token endpoint',
};

/** Prints an application's request; instead of the token, whose it is. */
export function showRequest(printer: Printer, url: string, caller: string, body: string): void {
  const { line, paint } = printer;
  line(`\n  ${paint('bold', 'the application sends')}`);
  line(`    POST ${url}`);
  line(`    ${paint('cyan', 'authorization')}  ${caller === 'none' ? '(none)' : `Bearer (the ${caller}'s)`}`);
  showText(printer, body);
}

/** Prints the route of an invocation: object, backends, hub. */
export function showRoute(printer: Printer, object: Partial<FoundObject>, { calls, direct }: FrontDoorExchange): void {
  const { line, paint } = printer;
  const row = (name: string, value: string) => line(`    ${paint('cyan', name.padEnd(17))}  ${visible(value)}`);
  const [device, ...target] = object.path?.split('/') ?? [];
  line(`\n  ${paint('bold', 'the front door finds the device')}`);
  row('object', object.type ? `${object.name ?? '(no name)'}, ${object.type}` : '(not in the sandbox)');
  if (object.type) row('device', device ?? '(the object has no owner)');
  if (target.length > 0) row('target', target.join('/'));
  for (const { backend, method, path, status } of calls) row(backendNames[backend], `${method} ${path}  ${status}`);
  for (const { deviceId, moduleId, methodName, status, refused } of direct) {
    row('hub', `${methodName} → ${deviceId}${moduleId === undefined ? '' : `/${moduleId}`}  ${status ?? refused}`);
  }
}

/** Prints the answer that the application receives. */
export function showAnswer(printer: Printer, { status, headers, answer, tookMs }: FrontDoorExchange): void {
  const { line, paint } = printer;
  const shownHeaders = ['x-correlation-id', 'www-authenticate', 'retry-after'].filter((name) => headers.has(name));
  line(`\n  ${paint('bold', 'and answers')}  ${status}  ${paint('dim', `after ${Math.round(tookMs)} ms`)}`);
  const width = Math.max(0, ...shownHeaders.map((name) => name.length));
  for (const name of shownHeaders) line(`    ${paint('cyan', name.padEnd(width))}  ${headers.get(name)}`);
  showText(printer, answer);
}
