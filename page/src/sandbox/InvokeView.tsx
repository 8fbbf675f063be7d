import { useState } from 'preact/hooks';
import { FieldInput } from '../form/FieldInput.tsx';
import { type Field, fieldsOf, rawOf } from '../form/fields.ts';
import { ask, usePolled } from '../kit/ask.ts';
import { Body } from '../kit/Body.tsx';
import { linkTo } from '../kit/route.ts';
import { useSession } from '../kit/session.ts';
import { Words } from '../kit/Words.tsx';
import { objectOf } from '../text/rawJson.ts';
import type { About } from './about.ts';
import { keyOf, methodsOf, type ObjectModel, schemaOfInputs, type TypeDefinition } from './world.ts';

interface Draft {
  readonly object: string;
  readonly method: string;
  readonly caller: string;
  readonly timeout: string;
  /** What was written; until then, the example. */
  readonly inputs: Readonly<Record<string, string>>;
}

interface Invoked {
  readonly status: number;
  readonly answer: string;
  readonly tookMs: number;
  /** Where the journal has it. */
  readonly position: number | null;
}

const timeoutField: Field = {
  ...{ name: 'timeout', isNeeded: false, type: 'number' },
  description: 'seconds that the device may take, 5 to 300',
};

/** Inputs as they are written into the fields. */
const exampleOf = (inputs: Readonly<Record<string, unknown>> = {}): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(inputs).map(([name, value]) => [name, String(value)]));

/** Invokes a remote method as an application, by a form made from the type of the object. */
export function InvokeView({ about: { methods } }: { readonly about: About }) {
  const objects = usePolled<{ data: readonly ObjectModel[] }>('backends/world/objects', 5_000).value?.data ?? [];
  const types = usePolled<{ data: readonly TypeDefinition[] }>('backends/world/types', 10_000).value?.data ?? [];
  const initial: Draft = { object: '', method: '', caller: 'invoker', timeout: '', inputs: {} };
  const [draft, setDraft] = useSession<Draft>('invoke', initial);
  const [said, setSaid] = useState('');
  const [answered, setAnswered] = useState<Invoked>();
  const invocable = objects.filter(({ type }) => Object.keys(methodsOf(type, types)).length > 0);
  // The press is a module that always answers.
  const object =
    invocable.find((one) => keyOf(one) === draft.object) ??
    invocable.find(({ path }) => path === 'edge-1/press') ??
    invocable[0];
  const all = object ? methodsOf(object.type, types) : {};
  const withInputs = Object.keys(all).find((name) => Object.keys(methods?.examples[name] ?? {}).length > 0);
  const method = draft.method in all ? draft.method : (withInputs ?? Object.keys(all)[0] ?? '');
  const inputs = { ...exampleOf(methods?.examples[method]), ...draft.inputs };
  const fields = fieldsOf(schemaOfInputs(all[method] ?? {}));
  if (!methods) return <p>This sandbox runs without remote methods.</p>;

  async function invoke(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    if (!object) return;
    setSaid('the method is invoked …');
    setAnswered(undefined);
    const given = fields.flatMap((field) => {
      const written = inputs[field.name] ?? '';
      return written === '' ? [] : [[field.name, rawOf(field, written)] as const];
    });
    try {
      const request = {
        ...{ objectId: object.objectId, model: object.model, method, caller: draft.caller },
        ...{ input: given.length > 0 ? objectOf(given) : '', timeout: draft.timeout },
      };
      setAnswered(await ask<Invoked>('invocations', 'POST', request));
      setSaid('');
    } catch (error) {
      setSaid((error as Error).message);
    }
  }

  return (
    <section class="narrow" aria-labelledby="invoke">
      <h2 id="invoke">Invoke a method as an application</h2>
      <form onSubmit={invoke}>
        <div class="field">
          <label for="object">Object</label>
          <select
            id="object"
            value={object ? keyOf(object) : ''}
            onChange={(event) => setDraft({ ...draft, object: event.currentTarget.value, method: '', inputs: {} })}
          >
            {invocable.map((one) => (
              <option key={keyOf(one)} value={keyOf(one)}>
                {one.name ?? one.objectId} ({one.path ?? 'no owner'}, {one.type})
              </option>
            ))}
          </select>
          <p class="quiet">
            The modules of edge-1 answer always; motor-1 answers while a program does: npm run device -- --methods --id
            motor-1
          </p>
        </div>
        <div class="field">
          <label for="method">Method</label>
          <select
            id="method"
            value={method}
            onChange={(event) => setDraft({ ...draft, method: event.currentTarget.value, inputs: {} })}
          >
            {Object.keys(all).map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
          <p class="quiet">
            <Words of={all[method]?.description} />
          </p>
        </div>
        <div class="fields">
          {fields.map((field) => (
            <FieldInput
              key={`${method}-${field.name}`}
              of="input"
              field={field}
              value={inputs[field.name] ?? ''}
              change={(value) => setDraft({ ...draft, inputs: { ...inputs, [field.name]: value } })}
            />
          ))}
        </div>
        <div class="fields">
          <div class="field">
            <label for="caller">Application</label>
            <select
              id="caller"
              value={draft.caller}
              onChange={(event) => setDraft({ ...draft, caller: event.currentTarget.value })}
            >
              {methods.callers.map((one) => (
                <option key={one}>{one}</option>
              ))}
            </select>
          </div>
          <FieldInput
            of="invoke"
            field={timeoutField}
            value={draft.timeout}
            change={(timeout) => setDraft({ ...draft, timeout })}
          />
        </div>
        <button type="submit" class="main" disabled={!object}>
          Invoke
        </button>{' '}
        <span role="status">{said}</span>
      </form>
      {answered && (
        <article aria-label="Answer">
          <h3 class={answered.status < 300 ? 'is-ok' : 'is-failed'}>
            Status {answered.status} <span class="quiet">after {Math.round(answered.tookMs)} ms</span>
          </h3>
          {answered.position !== null && (
            <p>
              <a href={linkTo('messages', { open: String(answered.position) })}>Its way through front door and hub</a>
            </p>
          )}
          <Body text={answered.answer} />
        </article>
      )}
    </section>
  );
}
