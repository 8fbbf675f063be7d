import { isDeepStrictEqual } from 'node:util';
import { type Way, ways } from 'iot-hub-emulator';
import { expected } from './expected.ts';
import { type Seen, serviceAt } from './service.ts';

const replyWithinMs = 20_000;
/** Where all are refused, each message would wait so long. */
const shortlyMs = 1_500;

interface Options {
  /** All when empty. */
  readonly only: readonly string[];
  readonly print: (line: string) => void;
  readonly signal: AbortSignal;
}

/** What the service makes of each hub that is otherwise than believed. The answer counts those of which it makes something else than is documented. */
export async function serviceAgainstWays({ only, print, signal }: Options): Promise<number> {
  const names = (Object.keys(ways) as Way[]).filter((way) => only.length === 0 || only.includes(way));
  let wrong = 0;
  for (const way of names) {
    const { works } = expected[way];
    const seen = await serviceAt([way], works ? replyWithinMs : shortlyMs, signal).catch(notRunning);
    const faults = faultsOf(way, seen);
    if (faults.length > 0) wrong += 1;
    print(`${faults.length === 0 ? '✓' : '✗'} ${way}: ${ways[way]}`);
    print(`    ${works ? 'works' : 'fails'}: ${expected[way].says}`);
    for (const fault of faults) print(`    ${fault}`);
  }
  print(`\n${names.length - wrong} ✓  ${wrong} ✗`);
  return wrong;
}

const notRunning = (error: Error): Seen => ({ problems: [error.message.split('\n', 1)[0] ?? ''], events: [] });

function faultsOf(way: Way, { problems, events }: Seen): readonly string[] {
  const { works, events: logged = [] } = expected[way];
  const first = problems.slice(0, 3);
  const answers = works ? first.map((text) => `it must work: ${text}`) : [];
  if (!works && problems.length === 0) answers.push('it must fail, and works');
  const isLogged = isDeepStrictEqual(events, logged.toSorted());
  return isLogged
    ? answers
    : [...answers, `it logs ${events.join(', ') || 'nothing'} instead of ${logged.join(', ') || 'nothing'}`];
}
