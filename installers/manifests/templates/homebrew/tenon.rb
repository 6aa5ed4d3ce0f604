# Homebrew cask: the release's disk image. Its syntax was checked with ruby; not tried on macOS yet.
cask "tenon" do
  version "@VERSION@"
  sha256 "@SHA256 tenon-@VERSION@-macos-aarch64.dmg@"

  url "@RELEASES@/v#{version}/tenon-#{version}-macos-aarch64.dmg"
  name "Tenon"
  desc "@SUMMARY@"
  homepage "@HOMEPAGE@"

  depends_on arch: :arm64
  depends_on macos: ">= :sonoma"

  app "Tenon.app"

  zap trash: [
    "~/Library/Application Support/tenon",
    "~/Library/Caches/tenon",
    "~/Library/Logs/tenon",
  ]
end
