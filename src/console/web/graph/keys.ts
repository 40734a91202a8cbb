// The names in the cache of records that are not named by their `id`.

/** Other types without an id are part of the record that holds them. Events are no records, or each one of a live view would stay. */
export const keys = {
  InstanceState: ({ instanceId }: Record<string, unknown>) => instanceId as string,
  InstanceHealth: ({ instanceId }: Record<string, unknown>) => instanceId as string,
  Suppression: ({ phone }: Record<string, unknown>) => phone as string,
  Event: () => null,
}
