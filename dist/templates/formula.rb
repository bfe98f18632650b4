class GitChronicle < Formula
  desc "@SUMMARY@"
  homepage "@HOMEPAGE@"
  version "@VERSION@"
  license any_of: ["MIT", "Apache-2.0"]
@BLOCKS@

  def install
    bin.install "bin/git-chronicle"
    man1.install Dir["share/man/man1/*"]
    man7.install Dir["share/man/man7/*"]
    bash_completion.install "share/bash-completion/completions/git-chronicle"
    zsh_completion.install "share/zsh/site-functions/_git-chronicle"
    (share/"fish/vendor_conf.d").install "share/fish/vendor_conf.d/git-chronicle.fish"
    doc.install Dir["share/doc/git-chronicle/*"]
  end

  test do
    assert_match "git-chronicle #{version} (chronicle)", shell_output("#{bin}/git-chronicle --version")
    assert_match "is now at lines", shell_output("#{bin}/git-chronicle tour")
  end
end
