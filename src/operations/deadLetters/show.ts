import { printableJson } from 'telemetry/printable.ts';
import type { DeadLetters } from '../../deadLetters/deadLetterStore.ts';

/** One dead letter whole. */
export async function show(store: Pick<DeadLetters, 'read'>, id: string): Promise<number> {
  const letter = await store.read(id);
  if (letter === undefined) throw new Error('there is no dead letter of this id: `list` shows them');
  const { event, ...rest } = letter;
  const body = event.body instanceof Uint8Array ? Buffer.from(event.body).toString('utf8') : event.body;
  const shown = { id, ...rest, event: { ...event, body } };
  process.stdout.write(`${printableJson(JSON.stringify(shown, null, 2))}\n`);
  return 0;
}
