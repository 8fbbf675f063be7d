/** Server-sent events of a response, until it ends: a name (`message` unless it has one) and the text. */
export async function* readEvents({ body }: Response): AsyncGenerator<{ name: string; data: string }, void> {
  const decoder = new TextDecoder();
  let begun = '';
  for await (const chunk of body ?? []) {
    const events = (begun + decoder.decode(chunk, { stream: true })).split('\n\n');
    begun = events.pop() ?? '';
    for (const event of events) {
      const fields = new Map(
        event.split('\n').map((line) => [line.slice(0, line.indexOf(': ')), line.slice(line.indexOf(': ') + 2)]),
      );
      const data = fields.get('data'); // none: a comment
      if (data !== undefined) yield { name: fields.get('event') ?? 'message', data };
    }
  }
}
