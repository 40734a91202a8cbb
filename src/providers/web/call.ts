// A call that only the holder of a connection can carry out.

export type Call = { call: 'lookup'; numbers: string[] } | { call: 'read'; from: string; stanzaId: string }
