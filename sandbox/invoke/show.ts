import type { Printer } from '../print.ts';
import { showText, visible } from '../showMessage.ts';
import type { Exchange } from './call.ts';
import type { FoundObject } from './find.ts';

const backendNames = {
  informationModel: 'information model',
  typeRegistry: 'type registry',
  principalManager: 'principal manager',
  token: 'token endpoint',
};

/** Prints what an application asks for; the token only by the name of who has it. */
export function showRequest(printer: Printer, url: string, caller: string, body: string): void {
  const { line, paint } = printer;
  line(`\n  ${paint('bold', 'the application asks')}`);
  line(`    POST ${url}`);
  line(`    ${paint('cyan', 'authorization')}  ${caller === 'none' ? '(none)' : `Bearer (the ${caller}'s)`}`);
  showText(printer, body);
}

/** Prints which way an invocation took: object, backends, hub. */
export function showRoute(printer: Printer, object: Partial<FoundObject>, { calls, direct }: Exchange): void {
  const { line, paint } = printer;
  const row = (name: string, value: string) => line(`    ${paint('cyan', name.padEnd(17))}  ${visible(value)}`);
  const [device, ...target] = object.path?.split('/') ?? [];
  line(`\n  ${paint('bold', 'the front door finds its way')}`);
  row('object', object.type ? `${object.name ?? '(no name)'}, ${object.type}` : '(the sandbox has none of this id)');
  if (object.type) row('device', device ?? '(nobody owns the object)');
  if (target.length > 0) row('target', target.join('/'));
  for (const { backend, method, path, status } of calls) row(backendNames[backend], `${method} ${path}  ${status}`);
  for (const { deviceId, moduleId, methodName, status, refused } of direct) {
    row('hub', `${methodName} → ${deviceId}${moduleId === undefined ? '' : `/${moduleId}`}  ${status ?? refused}`);
  }
}

/** Prints what the application gets. */
export function showAnswer(printer: Printer, { status, headers, answer, tookMs }: Exchange): void {
  const { line, paint } = printer;
  const told = ['x-correlation-id', 'www-authenticate', 'retry-after'].filter((name) => headers.has(name));
  line(`\n  ${paint('bold', 'and answers')}  ${status}  ${paint('dim', `after ${Math.round(tookMs)} ms`)}`);
  const width = Math.max(0, ...told.map((name) => name.length));
  for (const name of told) line(`    ${paint('cyan', name.padEnd(width))}  ${headers.get(name)}`);
  showText(printer, answer);
}
