// The words of warnings about the safety of an instance in English.

export const words = {
  caps: {
    hourlyOutboundCap: (n: string, most: string) => `${n} messages within an hour; ${most} are safe for this instance.`,
    dailyOutboundCap: (n: string, most: string) => `${n} messages within a day; ${most} are safe for this instance.`,
    hourlyUniqueRecipientsCap: (n: string, most: string) => `${n} people within an hour; ${most} are safe for this instance.`,
    dailyUniqueRecipientsCap: (n: string, most: string) => `${n} people within a day; ${most} are safe for this instance.`,
    maxCampaignRecipients: (n: string, most: string) => `${n} recipients of one campaign; ${most} are safe for this instance.`,
  } as Record<string, (n: string, most: string) => string>,
  cold: 'Many recipients of this instance never wrote to you.',
}
