import { Words } from '../kit/Words.tsx';
import type { Field } from './fields.ts';

interface FieldInputProps {
  readonly field: Field;
  /** Makes ids unique. */
  readonly of: string;
  readonly value: string;
  readonly change: (value: string) => void;
}

/** One field of a form with its label and its sentence. */
export function FieldInput({ field, of, value, change }: FieldInputProps) {
  const { name, description, isNeeded, type, options, constant, usual } = field;
  const id = `${of}-${name}`;
  const about = description === '' ? undefined : `${id}-about`;
  const common = { id, 'aria-describedby': about, name };
  return (
    <div class="field">
      <label for={id}>
        {name}
        {isNeeded && <span class="quiet"> (needed)</span>}
      </label>
      {constant !== undefined ? (
        <input {...common} value={constant} readOnly />
      ) : options ? (
        <select {...common} value={value} onChange={(event) => change(event.currentTarget.value)}>
          {!(isNeeded && value !== '') && <option value="">{usual ? `(${usual})` : ''}</option>}
          {options.map((option) => (
            <option key={option}>{option}</option>
          ))}
        </select>
      ) : type === 'json' ? (
        <textarea
          {...common}
          class="code"
          rows={Math.min(12, Math.max(1, value.split('\n').length))}
          spellcheck={false}
          value={value}
          onInput={(event) => change(event.currentTarget.value)}
        />
      ) : (
        <input
          {...common}
          autocomplete="off"
          spellcheck={false}
          inputMode={type === 'number' ? 'numeric' : undefined}
          placeholder={usual}
          value={value}
          onInput={(event) => change(event.currentTarget.value)}
        />
      )}
      {about && (
        <p id={about} class="quiet">
          <Words of={description} />
        </p>
      )}
    </div>
  );
}
