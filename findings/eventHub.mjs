// An event endpoint as small as @azure/event-hubs needs it: one partition, no checks, plain TCP on loopback, AMQP by rhea.
import rhea from 'rhea';

const { types } = rhea;

/** @param more options of its server */
export async function startHub(more = {}) {
  const container = rhea.create_container({ id: 'hub' });
  container.sasl_server_mechanisms.enable_anonymous();
  const answers = new Map(); // by connection and address: the link for what answers
  const events = []; // messages, in order
  const hub = { links: [], sockets: new Set() };

  container.on('sender_open', ({ sender, connection }) => {
    const address = sender.source?.address ?? '';
    sender.set_source({ address });
    if (address.startsWith('$')) return answers.set(`${connection.container_id} ${address}`, sender);
    hub.links.push(sender);
    const [, after] =
      /x-opt-(?:offset|sequence-number) > '(-?\d+)'/.exec(JSON.stringify(sender.source.filter ?? {})) ?? [];
    let next = after === undefined ? events.length : Number(after) + 1;
    const flush = () => {
      while (sender.is_open() && sender.credit > 0 && next < events.length) sender.send(events[next++]);
    };
    sender.on('sendable', flush);
    sender.flush = flush;
  });
  container.on('receiver_open', ({ receiver }) => receiver.set_target({ address: receiver.target?.address }));
  container.on('message', ({ message, receiver, connection }) => {
    const address = receiver.target?.address ?? receiver.remote.attach.target.address;
    const link = answers.get(`${connection.container_id} ${address}`);
    const ok = { 'status-code': address === '$cbs' ? 202 : 200, 'status-description': 'OK' };
    const { type, partition } = message.application_properties ?? {};
    const now = types.wrap_timestamp(Date.now());
    const body =
      type === 'com.microsoft:eventhub'
        ? { name: 'hub', type, created_at: now, partition_count: types.wrap_int(1), partition_ids: ['0'] }
        : {
            name: 'hub',
            type,
            partition,
            begin_sequence_number: types.wrap_long(0),
            last_enqueued_sequence_number: types.wrap_long(events.length - 1),
            last_enqueued_offset: String(events.length - 1),
            last_enqueued_time_utc: now,
            is_partition_empty: events.length === 0,
          };
    link.send({ correlation_id: message.message_id, application_properties: ok, body: address === '$cbs' ? '' : body });
  });
  for (const name of [
    'connection_error',
    'session_error',
    'sender_error',
    'receiver_error',
    'disconnected',
    'protocol_error',
    'error',
  ])
    container.on(name, () => {});

  const server = container.listen({ port: 0, host: '127.0.0.1', ...more });
  server.on('connection', (socket) => hub.sockets.add(socket.on('close', () => hub.sockets.delete(socket))));
  await new Promise((resolve) => server.once('listening', resolve));
  return Object.assign(hub, {
    port: server.address().port,
    append(text, more = {}) {
      events.push({
        ...more,
        body: rhea.message.data_section(Buffer.from(text)),
        message_annotations: {
          'x-opt-sequence-number': types.wrap_long(events.length),
          'x-opt-offset': String(events.length),
          'x-opt-enqueued-time': types.wrap_timestamp(Date.now()),
        },
      });
      for (const link of hub.links) link.flush();
    },
    close() {
      for (const socket of hub.sockets) socket.destroy();
      server.close();
    },
  });
}
export const connectionString = (port) =>
  `Endpoint=sb://127.0.0.1:${port};SharedAccessKeyName=any;SharedAccessKey=a2V5;EntityPath=hub;UseDevelopmentEmulator=true`;
