import { actions } from './actions.ts';
import { textOf } from './body.ts';
import { events } from './events.ts';
import { ackOf, hasControls, isTimeout, systemId } from './fields.ts';
import { type Expected, Failure, type Handling, type Sent } from './steps.ts';

/** What the service does with one message of a device, by the specification alone. */

type Texts = Readonly<Record<string, string>>;

const uuid = /^[\da-f]{8}-[\da-f]{4}-5[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const supported = [2, '2'];

/** R3: whether it is a request, and of which generation. */
export function* handle({ properties, body }: Sent, deviceId: string): Handling {
  const texts = Object.fromEntries(Object.entries(properties).map(([name, value]) => [name, String(value)]));
  if (texts['msgType'] === 'action') yield* handleAction(texts, body, deviceId);
  else if (texts['msgType'] !== undefined || texts['svc-messagetype'] !== 'platformEvent') return;
  else if (!texts['eventType']?.startsWith('Svc.InformationModel.')) yield* handleEvent(texts, body, deviceId);
}

function* handleAction(texts: Texts, body: Buffer, deviceId: string): Handling {
  const { target = '', context } = texts;
  const action = texts['action'] || undefined;
  const correlationId = texts['correlationId'] || undefined;
  const card = action === undefined ? undefined : actions[action];
  const invalid = 'validation_error';
  const { details = 'details', failed = {} } = card ?? {};
  const encoding = texts['content-encoding'] ?? '';
  const answer = yield* outcomeOf(details, failed, function* () {
    checkSize(texts);
    checkAck(texts, invalid);
    const faults = Object.entries({
      action: action !== undefined,
      version: supported.some((version) => String(version) === texts['version']),
      correlationId: correlationId !== undefined,
      timeout: (texts['timeout'] ?? '') === '' || isTimeout(texts['timeout'] ?? ''),
      target: !hasControls(target),
    });
    check(faults, invalid);
    if (card === undefined) throw new Failure('operation_not_supported');
    check(Object.entries(card.headers(texts)), invalid);
    return yield* card.run({ deviceId, texts, text: textOf(body, encoding, invalid), bytes: body });
  });
  if (!isWanted(texts, answer.success)) return;
  yield {
    reply: {
      deviceId,
      properties: {
        msgType: 'ack',
        version: '2',
        target,
        timestamp: time,
        ...(action !== undefined && { action }),
        ...(correlationId !== undefined && { correlationId }),
        ...(context !== undefined && action === 'identity.update' && { context }),
      },
      correlationId: systemId(correlationId),
      isCompressed: encoding.toLowerCase() === 'gzip' && answer.value['code'] !== 'decompression_error',
      body: answer,
    },
  };
}

function* handleEvent(texts: Texts, body: Buffer, deviceId: string): Handling {
  const { target = '' } = texts;
  const eventType = texts['eventType'] || undefined;
  const invalid = 'platform_event_validation_error';
  const id: Expected = texts['id'] ? texts['id'] : uuid;
  const systemIdOfEvent = typeof id === 'string' ? systemId(id) : id;
  const card = eventType === undefined ? undefined : events[eventType];
  const { failed = {} } = card ?? {};
  const subject: { objectId?: Expected; model?: Expected } = {};
  const answer = yield* outcomeOf('details', failed, function* () {
    checkSize(texts);
    checkAck(texts, invalid);
    check(Object.entries({ eventType: eventType !== undefined, target: !hasControls(target) }), invalid);
    if (card === undefined) throw new Failure('operation_not_supported');
    check(Object.entries(card.headers(texts)), invalid);
    const plain = ['', 'utf8', 'utf-8', 'identity'];
    check([['content-encoding', plain.includes((texts['content-encoding'] ?? '').toLowerCase())]], invalid);
    const text = textOf(body, '', invalid);
    const notification = { deviceId, correlationId: systemIdOfEvent, id, target };
    return yield* card.run({ deviceId, texts, text, notification, subject });
  });
  if (!isWanted(texts, answer.success)) return;
  yield {
    reply: {
      deviceId,
      properties: {
        'svc-messagetype': 'platformEventAck',
        id,
        target,
        ...(eventType !== undefined && { eventType }),
        ...(card === undefined ? {} : card.named(subject, texts, answer.success)),
      },
      correlationId: systemIdOfEvent,
      isCompressed: false,
      body: answer,
    },
  };
}

/** The acknowledgement's body: of a success with what the handling gives, of a failure with what always stands in it. */
function* outcomeOf(
  details: string,
  failed: Readonly<Record<string, unknown>>,
  run: () => Handling<Readonly<Record<string, unknown>>>,
): Handling<{ success: boolean; value: Readonly<Record<string, unknown>>; mentions: readonly string[] }> {
  try {
    return { success: true, value: { success: true, code: 'ok', [details]: '', ...(yield* run()) }, mentions: [] };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const { code, mentions, fields } = error;
    const value = { success: false, code, [details]: /^.{1,1000}$/s, ...failed, ...fields };
    return { success: false, value, mentions };
  }
}

function check(rules: readonly (readonly [string, boolean])[], code: string): void {
  const faults = rules.filter(([, holds]) => !holds).map(([name]) => name);
  if (faults.length > 0) throw new Failure(code, faults);
}

/** R7 */
function checkSize(texts: Texts): void {
  const bytes = Object.entries(texts).reduce((sum, pair) => sum + Buffer.byteLength(pair.join('')), 0);
  if (bytes > 32_768) throw new Failure('platform_event_validation_error', ['32 kB']);
}

function checkAck({ ack = '' }: Texts, code: string): void {
  if (ackOf(ack) === undefined) throw new Failure(code, ['ack']);
}

/** P1, C5 */
function isWanted({ ack = '' }: Texts, success: boolean): boolean {
  return ['all', success ? 'positive' : 'negative'].includes(ackOf(ack) ?? 'all');
}
