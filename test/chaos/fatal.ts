import type { Random } from './random.ts';
import { sealed } from './sealed.ts';
import type { Sender } from './workload.ts';

/** Some devices, with a message more somewhere behind their first one: it ends each process that calls a backend for it. */
export function withFatal(senders: readonly Sender[], count: number, random: Random): Sender[] {
  const all = [...senders];
  for (let left = count; left > 0; left -= 1) {
    const harmless = all.filter(({ messages }) => messages.every(({ intent }) => intent.does !== 'end the process'));
    const chosen = random.pick(harmless);
    const { deviceId, messages } = chosen;
    const id = `fatal-${deviceId}`;
    const draft = { action: 'identity.update', intent: { does: 'end the process' }, body: { publicKey: id } } as const;
    const fatal = sealed(id, deviceId, draft, random);
    const at = random.between(1, messages.length);
    all[all.indexOf(chosen)] = { ...chosen, messages: messages.toSpliced(at, 0, fatal) };
  }
  return all;
}
