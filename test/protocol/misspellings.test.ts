import { describe, expect, it } from 'vitest';
import { misspellingIn } from '../../src/protocol/event.ts';
import { hubEvent } from '../support/events.ts';

const misspelling = (properties: Readonly<Record<string, unknown>>, isOurs = false) =>
  misspellingIn(hubEvent({ properties, body: {} }), isOurs);

describe('a misspelt property name', () => {
  it.each([
    [{ msgtype: 'action' }, 'msgType'],
    [{ MSGTYPE: 'ACTION' }, 'msgType'],
    [{ msgType: 'Action' }, 'msgType'],
    [{ 'Svc-MessageType': 'platformEvent' }, 'svc-messagetype'],
    [{ 'svc-messagetype': 'platformevent' }, 'svc-messagetype'],
    [{ temperature: 21, 'svc-messageType': 'PlatformEvent' }, 'svc-messagetype'],
  ])('is %j {S1.3}', (properties, meant) =>
    expect(misspelling(properties)).toMatch(new RegExp(`^property ${meant} must be spelt like this`)),
  );

  it.each([[{ '?msgType': 'action' }], [{ '?temperature': 21 }], [{ a: 1, '?': '' }]])(
    'is a question mark before a name, of our messages too: %j',
    (properties) => {
      const hint = 'a property name begins with ?, which is then part of the name: leave it out';
      expect([misspelling(properties), misspelling(properties, true)]).toEqual([hint, hint]);
    },
  );

  it.each([
    [{}],
    [{ temperature: 21, 'what?': 1 }],
    [{ msgType: 'telemetry' }],
    [{ msgtype: 'telemetry' }],
    [{ msgtype: 7 }],
    [{ messagetype: 'action' }],
    [{ battery: 'action', 'indoor-humidity': 'platformEvent' }],
    [{ 'svc-messagetype': 'platformEventAck' }],
    [{ 'svc-messagetype': 'platformEvent', eventType: 'Svc.InformationModel.ObjectModelUpdated' }],
  ])('does not include %j', (properties) => expect(misspelling(properties)).toBeUndefined());

  it('is not searched by letter case in a message for this service', () =>
    expect(misspelling({ msgType: 'action', msgtype: 'action' }, true)).toBeUndefined());
  it('is absent in a message without properties', () =>
    expect(
      misspellingIn({ ...hubEvent({ properties: {}, body: {} }), properties: undefined } as never, false),
    ).toBeUndefined());
});
