import type { EntryOf } from '../../iot-hub-emulator/src/journal/entry.ts';
import type { Journal } from '../../iot-hub-emulator/src/journal/journal.ts';
import { unpack } from '../../sandbox/terminal/showMessage.ts';
import { breachOfContract, entriesFor } from '../support/asyncapi.ts';

/**
 * What the messages that went through a hub break of docs/contracts/asyncapi.yaml: replies of the service, and requests
 * for it, unless they were refused or would not have been told so.
 */
export function breachesInJournal(journal: Journal): string[] {
  const replies = journal.list({ kind: 'c2d' }).filter(({ policy }) => policy === 'service');
  const refused = new Set(replies.filter(isFailure).map(exchangeOf));
  const requests = journal
    .list({ kind: 'd2c' })
    .filter(({ properties }) => properties['msgType'] === 'action' || properties['svc-messagetype'] === 'platformEvent')
    .map((request) => ({ ...request, direction: 'deviceToCloud' as const }))
    .filter((request) => entriesFor(request).length > 0 || !(refused.has(exchangeOf(request)) || isSilent(request)));
  return [
    ...requests.flatMap(breachOfContract),
    ...replies.flatMap((reply) => breachOfContract({ ...reply, direction: 'cloudToDevice' })),
  ];
}

// R4: replies repeat as text what a device may have sent as a number
const exchangeOf = ({ deviceId, properties }: EntryOf<'d2c' | 'c2d'>): string =>
  JSON.stringify([deviceId, String(properties['correlationId'] ?? properties['id'])]);

/** Whether the device would not hear of a failure. */
const isSilent = ({ properties }: EntryOf<'d2c'>): boolean =>
  ['', 'none', 'positive'].includes(String(properties['ack'] ?? '').toLowerCase());

function isFailure(reply: EntryOf<'c2d'>): boolean {
  const isAcknowledgement = [reply.properties['msgType'], reply.properties['svc-messagetype']].some((value) =>
    ['ack', 'platformEventAck'].includes(value ?? ''),
  );
  return isAcknowledgement && JSON.parse(unpack(reply).toString('utf8')).success === false;
}
