import type { Printer } from '../print.ts';
import { showMessage, unpack } from '../showMessage.ts';
import type { Exchange } from './demonstrate.ts';

const names = {
  informationModel: 'information model',
  typeRegistry: 'type registry',
  principalManager: 'principal manager',
  token: 'token endpoint',
};

/** Prints one exchange for a person; one that repeats another in few lines, unless something is wrong with it. */
export function show(exchange: Exchange, printer: Printer): void {
  const { step, problems } = exchange;
  const { line, paint } = printer;
  line(`\n${paint('bold', step.title)}\n`);
  if (step.isRepeat && problems.length === 0) showBriefly(exchange, printer);
  else showWhole(exchange, printer);
  line(`\n  ${verdict(problems, printer)}\n`);
}

export const verdict = (problems: readonly string[], { paint }: Printer): string =>
  problems.length === 0 ? paint('green', '✓ as expected') : paint('red', '✗ not as expected');

function showWhole({ step: { device }, sent, calls, replies }: Exchange, printer: Printer): void {
  const { line } = printer;
  line(`  ${device} sends`);
  showMessage(printer, sent);
  if (calls.length > 0) line('\n  the service asks');
  for (const call of calls) line(`    ${callLine(call, printer)}`);
  for (const reply of replies) {
    line(`\n  ${device} receives`);
    showMessage(printer, reply);
  }
}

function showBriefly({ step: { device }, sent, calls, replies }: Exchange, printer: Printer): void {
  const { line, paint } = printer;
  const row = (who: string, name = '', what = '') =>
    line(`  ${who.padEnd(18)}  ${paint('cyan', name)}  ${what}`.trimEnd());
  row(`${device} sends`, sent.properties['action'] ?? sent.properties['eventType']);
  for (const call of calls) line(`  ${callLine(call, printer)}`);
  for (const reply of replies) {
    const { 'svc-messagetype': kind, eventType, model, objectId } = reply.properties;
    if (kind === 'platformEvent') row(`${device} receives`, eventType, `${model} of ${objectId}`);
    else row(`${device} receives`, 'acknowledgement', unpack(reply).toString('utf8'));
  }
}

function callLine({ backend, method, path, status }: Exchange['calls'][number], { paint }: Printer): string {
  return `${paint('cyan', names[backend].padEnd(18))}  ${method.padEnd(6)} ${path}  ${paint('dim', String(status))}`;
}
