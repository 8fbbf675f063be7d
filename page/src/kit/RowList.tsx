import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

interface RowListProps<T> {
  /** What it is, for those who do not see it. */
  readonly label: string;
  readonly rows: readonly T[];
  readonly idOf: (row: T) => string;
  readonly chosen: string | undefined;
  readonly choose: (id: string) => void;
  readonly render: (row: T) => ComponentChildren;
}

const rowHeight = 30;
const beyond = 8;

/**
 * A list of any length, of which only the rows in sight are in the document. With the keyboard: up, down, page up, page
 * down, Home and End choose. Rows that come at the top do not move what is read further down.
 */
export function RowList<T>({ label, rows, idOf, chosen, choose, render }: RowListProps<T>) {
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  const firstId = rows[0] === undefined ? undefined : idOf(rows[0]);
  const before = useRef({ firstId, length: rows.length });

  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const observer = new ResizeObserver(() => setHeight(element.clientHeight));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  useLayoutEffect(() => {
    const element = box.current;
    const { firstId: was } = before.current;
    before.current = { firstId, length: rows.length };
    if (!element || was === firstId || was === undefined || element.scrollTop === 0) return;
    const moved = rows.findIndex((row) => idOf(row) === was);
    if (moved > 0) element.scrollTop += moved * rowHeight;
  });

  const from = Math.max(0, Math.floor(top / rowHeight) - beyond);
  const shown = rows.slice(from, Math.ceil((top + height) / rowHeight) + beyond);
  const at = rows.findIndex((row) => idOf(row) === chosen);
  const isInDocument = at >= from && at < from + shown.length;

  function go(index: number): void {
    const row = rows[Math.min(Math.max(index, 0), rows.length - 1)];
    const element = box.current;
    if (!row || !element) return;
    choose(idOf(row));
    const y = rows.indexOf(row) * rowHeight;
    if (y < element.scrollTop) element.scrollTop = y;
    else if (y + rowHeight > element.scrollTop + element.clientHeight)
      element.scrollTop = y + rowHeight - element.clientHeight;
  }

  const page = Math.max(1, Math.floor(height / rowHeight) - 1);
  const keys: Readonly<Record<string, number>> = {
    ...{ ArrowDown: at + 1, ArrowUp: at < 0 ? 0 : at - 1, PageDown: at + page, PageUp: at - page },
    ...{ Home: 0, End: rows.length - 1 },
  };

  return (
    <div
      class="rows"
      ref={box}
      role="listbox"
      aria-label={label}
      tabIndex={0}
      aria-activedescendant={isInDocument ? `row-${chosen}` : undefined}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
      onKeyDown={(event) => {
        const to = keys[event.key];
        if (to === undefined) return;
        event.preventDefault();
        go(to);
      }}
    >
      <div role="presentation" class="all-rows" style={{ height: `${rows.length * rowHeight}px` }}>
        {shown.map((row, index) => {
          const id = idOf(row);
          return (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the list has the keys, as lists of options have
            <div
              key={id}
              id={`row-${id}`}
              class="row"
              role="option"
              tabIndex={-1}
              aria-selected={id === chosen}
              aria-posinset={from + index + 1}
              aria-setsize={rows.length}
              style={{ transform: `translateY(${(from + index) * rowHeight}px)` }}
              onClick={() => choose(id)}
            >
              {render(row)}
            </div>
          );
        })}
      </div>
    </div>
  );
}
