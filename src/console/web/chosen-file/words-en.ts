// The words about a file that the reader chose in English.

export const words = {
  notUtf8: 'This file is no text in UTF-8. Save it as CSV UTF-8.',
  unreadable: 'This file cannot be read, or has changed since it was chosen. Choose it again.',
}
