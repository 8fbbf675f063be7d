import { backendNames } from '../invoke/showFrontDoorCall.ts';
import type { Printer } from '../terminal/print.ts';
import { showMessage } from '../terminal/showMessage.ts';
import type { Exchange } from './exchange.ts';

/** Prints one exchange for a person. */
export function showExchange(
  device: string,
  { example, sent, calls, replies, problems }: Exchange,
  printer: Printer,
): void {
  const { line, paint } = printer;
  line(`\n${paint('bold', example.title)}\n\n  ${device} sends`);
  showMessage(printer, sent);
  if (calls.length > 0) line('\n  the service asks');
  for (const call of calls) line(`    ${callLine(call, printer)}`);
  for (const reply of replies) {
    line(`\n  ${device} receives`);
    showMessage(printer, reply);
  }
  line(`\n  ${verdict(problems, printer)}\n`);
}

export const verdict = (problems: readonly string[], { paint }: Printer): string =>
  problems.length === 0 ? paint('green', '✓ as expected') : paint('red', '✗ not as expected');

function callLine({ backend, method, path, status }: Exchange['calls'][number], { paint }: Printer): string {
  return `${paint('cyan', backendNames[backend].padEnd(18))}  ${method.padEnd(6)} ${path}  ${paint('dim', String(status))}`;
}
