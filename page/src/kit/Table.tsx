import type { ComponentChildren } from 'preact';

export interface Column<T> {
  readonly title: string;
  readonly isNumber?: boolean;
  readonly of: (row: T) => ComponentChildren;
}

interface TableProps<T> {
  readonly caption: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  readonly keyOf: (row: T) => string;
  /** Instead of a table without rows. */
  readonly none: string;
}

/** A table of data; wide ones scroll in themselves. */
export function Table<T>({ caption, columns, rows, keyOf, none }: TableProps<T>) {
  if (rows.length === 0) return <p class="quiet">{none}</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard
    <section class="scrolls" tabIndex={0} aria-label={caption}>
      <table>
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ title, isNumber }) => (
              <th key={title} scope="col" class={isNumber ? 'number' : undefined}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ title, isNumber, of }) => (
                <td key={title} class={isNumber ? 'number' : undefined}>
                  {of(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
