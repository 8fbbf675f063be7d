import { sendOrAnswer } from './command.ts';

process.exitCode = await sendOrAnswer(process.argv.slice(2), process, interruption);

/** Aborts at Ctrl-C or SIGTERM. */
function interruption(): AbortSignal {
  const interrupt = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupt.abort());
  return interrupt.signal;
}
