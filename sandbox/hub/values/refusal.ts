/** Why the hub says no: an AMQP error condition and a sentence. It travels to the client as it is. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly condition: string;

  constructor(condition: string, description: string) {
    super(description);
    this.condition = condition;
  }
}
