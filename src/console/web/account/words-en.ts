// The words of the page Account in English.

export const words = {
  title: 'Account',
  sessions: 'Sessions',
  browser: 'Browser',
  address: 'Address',
  started: 'Started',
  thisOne: 'This one',
  end: 'End',
  endOf: (browser: string) => `End the session of ${browser}`,
  endOthers: 'End all others',
  unknown: 'Unknown',
  changePassword: 'Change password',
  current: 'Current password',
  newPassword: 'New password',
  changed: 'The password is changed. Other sessions have ended.',
  deleteAccount: 'Delete account',
  deleteNote:
    'Your sessions, keys, instances and teams end at once, and what they hold is deleted within a day. This cannot be undone.',
  deleteProof: 'Your password',
  appearance: 'Language and appearance',
  language: 'Language',
  theme: 'Theme',
  themes: { auto: 'As the system', light: 'Light', dark: 'Dark' },
  zone: 'Time zone',
  local: (zone: string) => `As this computer (${zone})`,
  plan: 'Plan',
}
