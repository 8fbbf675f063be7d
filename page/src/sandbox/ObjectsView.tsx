import { usePolled } from '../kit/ask.ts';
import { Body } from '../kit/Body.tsx';
import { changeQuery } from '../kit/route.ts';
import { ObjectGraph } from './ObjectGraph.tsx';
import { keyOf, type ObjectModel } from './world.ts';

/** Rows that are shown; a filter finds the others. */
const most = 300;

/** The object models with their references, as a table and as a graph. */
export function ObjectsView({ query }: { readonly query: URLSearchParams }) {
  const { value } = usePolled<{ data: readonly ObjectModel[] }>('backends/world/objects', 3_000);
  const filter = (query.get('filter') ?? '').toLowerCase();
  const chosen = query.get('object');
  const all = value?.data ?? [];
  const found = all.filter((one) => textOf(one).includes(filter));
  const object = all.find((one) => keyOf(one) === chosen);
  const nameOf = (to: Parameters<typeof keyOf>[0]) => {
    const target = all.find((one) => keyOf(one) === keyOf(to));
    return target?.name ?? to.objectId;
  };
  return (
    <div class="two">
      <section aria-labelledby="objects">
        <h2 id="objects">Object models</h2>
        <label>
          Filter{' '}
          <input
            type="search"
            value={query.get('filter') ?? ''}
            onInput={(event) => changeQuery({ filter: event.currentTarget.value })}
          />
        </label>
        <table>
          <thead>
            <tr>
              <th scope="col">name</th>
              <th scope="col">type</th>
              <th scope="col">owner</th>
              <th scope="col">references</th>
            </tr>
          </thead>
          <tbody>
            {found.slice(0, most).map((one) => (
              <tr key={keyOf(one)}>
                <td>
                  <button
                    type="button"
                    class="link"
                    aria-pressed={keyOf(one) === chosen}
                    onClick={() => changeQuery({ object: keyOf(one) })}
                  >
                    {one.name ?? one.objectId}
                  </button>
                </td>
                <td>{one.type}</td>
                <td>{one.path ?? 'none'}</td>
                <td>
                  {one.references
                    .map(({ name, to }) => `${name} → ${nameOf({ ...to, tenant: one.tenant })}`)
                    .join(', ')}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
        {found.length > most && <p class="quiet">and {found.length - most} more: filter</p>}
      </section>
      <section class="details" aria-label="Graph of references">
        <ObjectGraph objects={found.slice(0, most)} chosen={chosen} choose={(id) => changeQuery({ object: id })} />
        {object && (
          <>
            <h3>{object.name ?? object.objectId}</h3>
            <Body text={JSON.stringify(object)} />
          </>
        )}
      </section>
    </div>
  );
}

const textOf = ({ name = '', objectId, model, type, path = '' }: ObjectModel): string =>
  `${name} ${objectId} ${model} ${type} ${path}`.toLowerCase();
