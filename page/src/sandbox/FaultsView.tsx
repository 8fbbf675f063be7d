import { useState } from 'preact/hooks';
import { FieldInput } from '../form/FieldInput.tsx';
import { type Field, fieldsOf, rawOf } from '../form/fields.ts';
import { usePolled } from '../kit/ask.ts';
import { useSession } from '../kit/session.ts';
import { Words } from '../kit/Words.tsx';
import { objectOf } from '../text/rawJson.ts';
import type { FaultKind, Faults, Place } from './faults.ts';

interface Kinds {
  readonly kinds: readonly FaultKind[];
}

/** Every fault with one sentence, to be turned on for so long. Those that are on stand above, on every view. */
export function FaultsView({ faults }: { readonly faults: Faults }) {
  const hub = usePolled<Kinds>('hub/faults/kinds', 60_000).value?.kinds ?? [];
  const backends = usePolled<Kinds>('backends/faults/kinds', 60_000).value?.kinds ?? [];
  return (
    <div class="columns">
      <section aria-labelledby="faults-of-backends">
        <h2 id="faults-of-backends">Backends</h2>
        {backends.map((kind) => (
          <FaultForm key={kind.kind} place="backends" kind={kind} faults={faults} />
        ))}
      </section>
      <section aria-labelledby="faults-of-hub">
        <h2 id="faults-of-hub">Hub</h2>
        {hub.map((kind) => (
          <FaultForm key={kind.kind} place="hub" kind={kind} faults={faults} />
        ))}
      </section>
    </div>
  );
}

interface FaultFormProps {
  readonly place: Place;
  readonly kind: FaultKind;
  readonly faults: Faults;
}

type Written = Readonly<Record<string, string>>;

const forSeconds: Field = {
  ...{ name: 'seconds', isNeeded: false, type: 'number' },
  description: 'how long it is on; until it is turned off when empty',
};

/** The kind of a fault of a backend is what it says: `status`, `delayMs`. */
const isOf = (kind: string, fault: Readonly<Record<string, unknown>>): boolean =>
  fault['kind'] === kind || kind.split(',').every((member) => member in fault);

function FaultForm({ place, kind: { kind, happens, what, schema }, faults }: FaultFormProps) {
  const key = `fault-${place}-${kind}`;
  const [written, setWritten] = useSession<Written>(key, {});
  const [said, setSaid] = useState('');
  const fields = fieldsOf(schema);
  const isOn = faults.active.some((one) => one.place === place && isOf(kind, one.fault));
  const givenFor = ({ name, constant, isNeeded, options }: (typeof fields)[number]) =>
    constant ?? written[name] ?? (isNeeded ? (options?.[0] ?? '') : '');

  async function turnOn(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    const given = fields.map((field) => [field, givenFor(field)] as const).filter(([, value]) => value !== '');
    try {
      const fault = JSON.parse(objectOf(given.map(([field, value]) => [field.name, rawOf(field, value)])));
      setSaid(await faults.add(place, fault, happens === 'at once' ? '' : (written['seconds'] ?? '')));
    } catch (error) {
      setSaid((error as Error).message);
    }
  }

  return (
    <details class="fault">
      <summary>
        {isOn && <strong class="struck">⚡ on </strong>}
        <strong>{kind}</strong> <Words of={what} />
      </summary>
      <form onSubmit={turnOn}>
        <div class="fields">
          {fields
            .filter(({ constant }) => constant === undefined)
            .map((field) => (
              <FieldInput
                key={field.name}
                of={key}
                field={field}
                value={givenFor(field)}
                change={(value) => setWritten({ ...written, [field.name]: value })}
              />
            ))}
          {happens === 'until cleared' && (
            <FieldInput
              of={key}
              field={forSeconds}
              value={written['seconds'] ?? ''}
              change={(seconds) => setWritten({ ...written, seconds })}
            />
          )}
        </div>
        <button type="submit">{happens === 'at once' ? 'Do it' : 'Turn on'}</button> <span role="status">{said}</span>
      </form>
    </details>
  );
}
