import { printable } from 'telemetry/printable.ts';

const colours: Readonly<Record<string, number>> = {
  read: 36,
  attempt: 34,
  reply: 35,
  'reply waits': 33,
  refused: 33,
  waits: 33,
  sent: 34,
  answer: 35,
  handled: 32,
  parked: 31,
  gap: 31,
  dropped: 31,
};

/** Not shown: each line is about the same device, and the ids stand where the message begins. */
const left = ['time', 'stage', 'device', 'partition', 'sequenceNumber'];

/**
 * A line of the tap for people: time (UTC), position of the message or correlation id of the invocation, stage, fields; bodies on lines of their own.
 * @param json one line
 */
export function readableLine(json: string, hasColours: boolean): string {
  const event: Readonly<Record<string, unknown>> = JSON.parse(json);
  const { time, stage, partition, sequenceNumber, correlationId = '' } = event;
  const isInvocation = partition === undefined;
  const [on, off] = hasColours ? [`\u001b[${colours[String(stage)] ?? 0}m`, '\u001b[0m'] : ['', ''];
  const place = isInvocation ? String(correlationId) : `${partition}/${sequenceNumber}`;
  const isLeft = (name: string) => left.includes(name) || (isInvocation && name === 'correlationId');
  const fields = Object.entries(event).filter(([name]) => !isLeft(name));
  const isBody = ([name]: readonly [string, unknown]) => bodies.includes(name);
  const short = fields.filter((one) => !isBody(one)).map(([name, value]) => `${printable(name)}=${shown(value)}`);
  const head = [
    String(time).slice(11, 23),
    printable(place).padEnd(10),
    `${on}${String(stage).padEnd(11)}${off}`,
    ...short,
  ];
  const long = fields.filter(isBody).map(([name, value]) => `    ${name}: ${printable(String(value))}\n`);
  return `${head.join('  ')}\n${long.join('')}`;
}

const bodies = ['body', 'request', 'response'];

function shown(value: unknown): string {
  const isPlain = typeof value !== 'string' || /^[\w.:@/+-]+$/.test(value);
  return printable(isPlain && typeof value === 'string' ? value : JSON.stringify(value));
}
