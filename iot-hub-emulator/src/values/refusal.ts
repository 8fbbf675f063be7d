/** Why the hub says no: an AMQP error condition and a sentence. It travels to the client as it is. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly condition: string;

  /** More for programs. */
  readonly info: Readonly<Record<string, string | number>> | undefined;

  constructor(condition: string, description: string, info?: Refusal['info']) {
    super(description);
    this.condition = condition;
    this.info = info;
  }
}
