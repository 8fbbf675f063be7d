import { useState } from 'preact/hooks';
import { FieldInput } from '../form/FieldInput.tsx';
import { type Field, fieldsOf, rawOf, writtenOf } from '../form/fields.ts';
import { ask, usePolled } from '../kit/ask.ts';
import { changeQuery, linkTo } from '../kit/route.ts';
import { useSession } from '../kit/session.ts';
import { Words } from '../kit/Words.tsx';
import { indented, members, objectOf } from '../text/rawJson.ts';
import type { About, MessageForm } from './about.ts';
import type { ObjectModel } from './world.ts';

interface Draft {
  readonly device: string;
  readonly properties: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Properties that say how the body is packed: the form sends it as it is. */
const left = new Set(['content-encoding']);

/** Sends a message as a device: a form made from the contract, filled with an example. */
export function SendView({ about, query }: { readonly about: About; readonly query: URLSearchParams }) {
  const name = query.get('message') ?? about.messages[0]?.name ?? '';
  const form = about.messages.find((one) => one.name === name);
  const objects = usePolled<{ data: readonly ObjectModel[] }>('backends/world/objects', 2_000).value?.data;
  return (
    <section class="narrow" aria-labelledby="send">
      <h2 id="send">Send a message as a device</h2>
      <div class="field">
        <label for="message">Message</label>
        <select id="message" value={name} onChange={(event) => changeQuery({ message: event.currentTarget.value })}>
          {about.messages.map((one) => (
            <option key={one.name}>{one.name}</option>
          ))}
        </select>
        <p class="quiet">
          <Words of={form?.summary} />
        </p>
      </div>
      {form && objects && <MessageSender key={name} form={form} objects={objects} />}
    </section>
  );
}

interface MessageSenderProps {
  readonly form: MessageForm;
  readonly objects: readonly ObjectModel[];
}

/** The body of an example, with the version that its object model has now: it would be refused with another. */
function bodyOf({ body, properties }: MessageForm['example'], objects: readonly ObjectModel[]): string {
  const { version } = objects.find(({ objectId }) => objectId === properties['objectId']) ?? {};
  if (version === undefined) return body;
  const parts = members(body) ?? [];
  if (!parts.some(([name]) => name === 'version')) return body;
  return objectOf(parts.map(([name, raw]) => [name, name === 'version' ? String(version) : raw]));
}

/** The serial number of an example is that of its device: another one that sends it could not have the object. */
const withOwnSerial = (body: string, device: string): string =>
  body.replace(/"serial": "[^"]*/g, (serial) => `${serial}-${JSON.stringify(device).slice(1, -1)}`);

function MessageSender({ form, objects }: MessageSenderProps) {
  const { name, headers, payload, example } = form;
  const body = bodyOf(example, objects);
  const bodyFor = (device: string) => (device === example.device ? body : withOwnSerial(body, device));
  const initial: Draft = { device: example.device, properties: example.properties, body };
  const [draft, setDraft] = useSession<Draft>(`send-${name}`, initial);
  const [asText, setAsText] = useSession(`send-as-text-${name}`, false);
  const [said, setSaid] = useState('');
  const devices = usePolled<{ devices: readonly { deviceId: string; connected: boolean }[] }>('hub/devices', 5_000);
  const known = devices.value?.devices ?? [];
  const bodyFields = fieldsOf(payload);
  const parts = members(draft.body);
  const hasFields = bodyFields.length > 0 && parts !== undefined && !asText;

  async function send(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    setSaid('it is sent …');
    const constants = fieldsOf(headers).flatMap(({ name: one, constant }) => (constant ? [[one, constant]] : []));
    const given = { ...draft.properties, ...Object.fromEntries(constants) };
    const properties = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ''));
    try {
      const message = { deviceId: draft.device, properties, body: draft.body };
      const { position } = await ask<{ position: number }>('messages', 'POST', message);
      location.hash = linkTo('messages', { open: String(position) });
    } catch (error) {
      setSaid((error as Error).message);
    }
  }

  return (
    <form onSubmit={send}>
      <div class="field">
        <label for="device">Device</label>
        <input
          id="device"
          list="devices"
          required
          autocomplete="off"
          value={draft.device}
          onInput={({ currentTarget: { value: device } }) => {
            const isExample = draft.body === bodyFor(draft.device);
            setDraft({ ...draft, device, ...(isExample && { body: bodyFor(device) }) });
          }}
        />
        <datalist id="devices">
          {known.map(({ deviceId }) => (
            <option key={deviceId}>{deviceId}</option>
          ))}
        </datalist>
        <p class="quiet">
          {known.some(({ deviceId, connected }) => connected && deviceId === draft.device)
            ? 'It is connected: a program that is connected as this device loses its connection.'
            : 'A device that is not there yet is added to hub and principal manager.'}
        </p>
      </div>
      <fieldset>
        <legend>Properties</legend>
        <div class="fields">
          {fieldsOf(headers)
            .filter((field) => !left.has(field.name))
            .map((field) => (
              <FieldInput
                key={field.name}
                of="property"
                field={field}
                value={draft.properties[field.name] ?? ''}
                change={(value) => setDraft({ ...draft, properties: { ...draft.properties, [field.name]: value } })}
              />
            ))}
        </div>
      </fieldset>
      <fieldset>
        <legend>Body</legend>
        {bodyFields.length > 0 && (
          <label>
            <input type="checkbox" checked={!hasFields} onChange={(event) => setAsText(event.currentTarget.checked)} />{' '}
            as text{parts === undefined && ' (it is no JSON object)'}
          </label>
        )}
        {hasFields ? (
          <BodyFields fields={bodyFields} parts={parts} change={(body) => setDraft({ ...draft, body })} />
        ) : (
          <textarea
            class="code wide"
            aria-label="body as text"
            rows={Math.min(24, Math.max(8, draft.body.split('\n').length))}
            spellcheck={false}
            value={draft.body}
            onInput={(event) => setDraft({ ...draft, body: event.currentTarget.value })}
          />
        )}
      </fieldset>
      <button type="submit" class="main">
        Send
      </button>{' '}
      <button type="button" onClick={() => setDraft(initial)}>
        The example again
      </button>{' '}
      <span role="status">{said}</span>
    </form>
  );
}

interface BodyFieldsProps {
  readonly fields: readonly Field[];
  readonly parts: readonly (readonly [name: string, raw: string])[];
  readonly change: (body: string) => void;
}

/** The members of the body, of which only the changed one is written anew: numbers and order stay. */
function BodyFields({ fields, parts, change }: BodyFieldsProps) {
  const others = parts
    .filter(([name]) => !fields.some((field) => field.name === name))
    .map(([name]): Field => ({ name, description: '', isNeeded: false, type: 'json' }));
  const put = (field: Field, written: string) => {
    const raw = rawOf(field, written);
    const isThere = parts.some(([name]) => name === field.name);
    if (written === '') return change(objectOf(parts.filter(([name]) => name !== field.name)));
    change(
      objectOf(
        isThere
          ? parts.map(([name, old]) => [name, name === field.name ? raw : old] as const)
          : [...parts, [field.name, raw] as const],
      ),
    );
  };
  return (
    <div class="fields">
      {[...fields, ...others].map((field) => (
        <BodyField key={field.name} field={field} raw={parts.find(([name]) => name === field.name)?.[1]} put={put} />
      ))}
    </div>
  );
}

interface BodyFieldProps {
  readonly field: Field;
  readonly raw: string | undefined;
  readonly put: (field: Field, written: string) => void;
}

/** What is no JSON yet stays in the field until it is. */
function BodyField({ field, raw, put }: BodyFieldProps) {
  const [unfinished, setUnfinished] = useState<string>();
  const shown = raw === undefined ? '' : writtenOf(field, field.type === 'json' ? indented(raw) : raw);
  return (
    <>
      <FieldInput
        of="body"
        field={field}
        value={unfinished ?? shown}
        change={(written) => {
          const isFinished = written === '' || members(`{"a":${rawOf(field, written)}}`)?.length === 1;
          setUnfinished(isFinished ? undefined : written);
          if (isFinished) put(field, written);
        }}
      />
      {unfinished !== undefined && <p class="is-failed">{field.name} is no JSON yet, and not sent</p>}
    </>
  );
}
