import { showAnswer, showRequest, showRoute } from '../invoke/showFrontDoorCall.ts';
import type { Printer } from '../terminal/print.ts';
import { showText, withoutSignatures } from '../terminal/showMessage.ts';
import type { InvocationResult } from './invocation.ts';
import { verdict } from './showExchange.ts';

/** Prints one invocation for a person; one that repeats another in few lines, unless something is wrong with it. */
export function showInvocation(invoked: InvocationResult, printer: Printer): void {
  const { invocation, problems } = invoked;
  const { line, paint } = printer;
  line(`\n${paint('bold', invocation.title)}`);
  if (invocation.isRepeat && problems.length === 0) showBriefly(invoked, printer);
  else showWhole(invoked, printer);
  line(`\n  ${verdict(problems, printer)}\n`);
}

function showWhole(
  { invocation, object, body, exchange, deviceCalls, moduleRequests }: InvocationResult,
  printer: Printer,
): void {
  const { line, paint } = printer;
  showRequest(printer, exchange.url, invocation.caller ?? 'invoker', body);
  showRoute(printer, object, exchange);
  for (const { payload, answer } of deviceCalls) {
    line(`\n  ${paint('bold', `${invocation.device?.id} is invoked`)}`);
    showText(printer, withoutSignatures(JSON.stringify(payload)));
    line(`\n  ${paint('bold', 'and answers')}`);
    showText(printer, JSON.stringify(answer));
  }
  for (const { module, topic, payload, replyTopic, reply } of moduleRequests) {
    line(`\n  ${paint('bold', `module ${module} receives`)}  ${topic}`);
    if (payload) showText(printer, payload);
    line(`\n  ${paint('bold', 'and replies')}  ${replyTopic}`);
    if (reply) showText(printer, reply);
  }
  showAnswer(printer, exchange);
}

function showBriefly(
  { invocation, body, exchange, deviceCalls, moduleRequests }: InvocationResult,
  { line, paint }: Printer,
): void {
  const { caller = 'invoker', object, method, device } = invocation;
  const row = (who: string, ...more: string[]) => line(`  ${[who.padEnd(18), ...more].join('  ')}`);
  line();
  row(`the ${caller} invokes`, paint('cyan', method), `of ${object}  ${body}`);
  for (const { answer } of deviceCalls) row(`${device?.id} answers`, JSON.stringify(answer));
  for (const { module, replyTopic, reply } of moduleRequests) row(`${module} replies`, replyTopic, reply);
  row('the answer', paint('cyan', String(exchange.status)), exchange.answer);
}
