import { copiesOf, curlOfCall } from '../flow/copies.ts';
import { type Entry, textOf } from '../flow/entry.ts';
import type { Flow } from '../flow/flows.ts';
import { shownMs, stepsOf } from '../flow/steps.ts';
import { Body } from '../kit/Body.tsx';
import { Copies } from '../kit/Copyable.tsx';
import { changeQuery } from '../kit/route.ts';
import type { About } from './about.ts';
import { Sequence } from './Sequence.tsx';
import type { Told } from './told.ts';

interface FlowDetailsProps {
  readonly flow: Flow;
  /** The connections of its device. */
  readonly connections: readonly Entry[];
  readonly about: About;
  /** What the demonstration says about it. */
  readonly told: Told | undefined;
  /** Position of the entry whose body is shown; empty: of the first. */
  readonly step: string;
}

/** One flow: its picture, and what was said in one of its steps. */
export function FlowDetails({ flow, connections, about, told, step }: FlowDetailsProps) {
  const steps = stepsOf(flow, connections);
  const chosen = steps.find(({ entry }) => String(entry?.position) === step)?.entry ?? flow.entries[0];
  const pageUrl = location.href.replace(/\/?(#.*)?$/, '');
  return (
    <>
      <h2>
        {told?.method === undefined ? flow.name : `method ${told.method}`} <span class="quiet">{flow.device}</span>
      </h2>
      {told && (
        <p class={told.problems.length === 0 ? 'story' : 'story is-failed'}>
          {told.title}
          {told.problems.map((problem) => `; ${problem}`)}
        </p>
      )}
      <p class="facts">
        {flow.correlationId !== undefined && (
          <>
            correlation id <code>{flow.correlationId}</code>,{' '}
          </>
        )}
        {new Date(flow.at).toISOString()}
        {flow.tookMs !== undefined && `, ${shownMs(flow.tookMs)}`}
        {flow.outcome.text !== '' && `, ${flow.outcome.text}`}
      </p>
      <Copies copies={copiesOf(flow, pageUrl)} />
      <Sequence
        steps={steps}
        chosen={chosen?.position}
        choose={(position) => changeQuery({ step: String(position) })}
        names={flow.what === 'invocation' ? { service: 'front door' } : {}}
      />
      {chosen && <Said entry={chosen} urls={about.backends} />}
    </>
  );
}

/** What one entry of the journal says. */
function Said({ entry, urls }: { readonly entry: Entry; readonly urls: About['backends'] }) {
  const { kind, properties, headers, system, payload, fault, refused } = entry;
  const named = { ...system, ...properties, ...headers };
  const encoding = named['content-encoding'];
  return (
    <article class="said" aria-label="What was said">
      <h3>
        {kind} <span class="quiet">entry {entry.position}</span>
      </h3>
      {entry.path !== undefined && (
        <p class="path">
          <code>
            {entry.method} {entry.path}
          </code>
        </p>
      )}
      {fault !== undefined && <p class="is-failed">{fault} struck this call.</p>}
      {refused !== undefined && (
        <p class="is-failed">
          {typeof refused === 'string' ? refused : `${refused.condition}: ${refused.description}`}
        </p>
      )}
      {Object.keys(named).length > 0 && (
        <table>
          <caption class="unseen">properties and headers</caption>
          <tbody>
            {Object.entries(named).map(([name, value]) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td>{String(value)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <Body
        text={payload ?? textOf(entry)}
        bytes={entry.body ?? undefined}
        encoding={encoding === undefined ? undefined : String(encoding)}
      />
      {kind === 'http-request' && <Copies copies={[{ as: 'curl', text: curlOfCall(entry, urls) }]} />}
    </article>
  );
}
