/** A sentence of a contract, in which backticks mark code. */
export const Words = ({ of }: { readonly of: string | undefined }) => (
  <>{(of ?? '').split('`').map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}</>
);
